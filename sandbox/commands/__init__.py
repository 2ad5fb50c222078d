"""The commands of `bank-sandbox` beside `serve`, one file per group; most are thin clients of the controls."""
