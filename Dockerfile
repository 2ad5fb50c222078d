# The sandbox as an image: one process, no root, everything by SANDBOX_* variables.
#
#   docker build --tag bank-sandbox .
#   docker run --rm --publish 127.0.0.1:8080:8080 --env SANDBOX_OPEN=1 bank-sandbox
#
# In a container the bank must listen on all addresses, so it starts only when it is told who may use its controls
# (choice 12): SANDBOX_KEY for a key, or SANDBOX_OPEN=1 where nobody else reaches the port, as with 127.0.0.1 above.

# A tag may come to mean another image. Pin it by the digest that your registry gives:
#   docker buildx imagetools inspect python:3.13-slim --format '{{.Manifest.Digest}}'
#   docker build --build-arg PYTHON=python:3.13-slim@sha256:... --tag bank-sandbox .
ARG PYTHON=python:3.13-slim

FROM ${PYTHON} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /source

# Only files whose hash requirements/ knows. The wheel is built by the setuptools named there.
COPY requirements requirements
RUN pip install --require-hashes --only-binary :all: --requirement requirements/build.txt
COPY setup.cfg pyproject.toml README.md LICENSE ./
COPY sandbox sandbox
COPY fixtures fixtures
COPY scenarios scenarios
COPY docs docs
RUN pip wheel --no-deps --no-build-isolation --wheel-dir wheels .

# What runs: without pip and setuptools, and of all the world's languages those of the bank.
RUN python -m venv --without-pip /opt/bank-sandbox \
    && pip --python /opt/bank-sandbox/bin/python install --require-hashes --only-binary :all: \
        --requirement requirements/image.txt \
    && pip --python /opt/bank-sandbox/bin/python install --no-deps wheels/*.whl \
    && find /opt/bank-sandbox/lib/python3*/site-packages/babel/locale-data -type f \
        ! -name 'root.dat' ! -name 'en*.dat' ! -name 'fr*.dat' ! -name 'nl*.dat' -delete


FROM ${PYTHON}
LABEL org.opencontainers.image.title="bank-sandbox" \
      org.opencontainers.image.description="A Belgian bank's interface for regulated third parties, whole and offline" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/bank-sandbox /opt/bank-sandbox

# A volume takes over the owner of the folder it is put on, so both are there already.
RUN mkdir --parents /state /scenarios /etc/bank-sandbox/pki \
    && chown 10001:10001 /state /etc/bank-sandbox/pki
USER 10001:10001

ENV PATH=/opt/bank-sandbox/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    SANDBOX_HOST=0.0.0.0
# Files are named from here: SANDBOX_SCENARIO=mine.yaml is /scenarios/mine.yaml.
WORKDIR /scenarios
# Used when SANDBOX_STATE names a file in it; without, the bank forgets when it ends.
VOLUME ["/state"]
EXPOSE 8080

# It reads the same variables as `serve`, the key among them.
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s CMD ["bank-sandbox", "health"]
ENTRYPOINT ["bank-sandbox"]
CMD ["serve"]
