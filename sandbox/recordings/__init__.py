"""Recorded calls: read from the files of browsers, proxies, mock servers and the sandbox itself."""

from sandbox.recordings.reading import Recording as Recording
from sandbox.recordings.reading import read_recording as read_recording
from sandbox.recordings.recorded_calls import RecordedCall as RecordedCall
from sandbox.recordings.recorded_calls import RecordingError as RecordingError
