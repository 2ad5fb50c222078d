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

# What runs: without pip and setuptools, and of all the world's languages those of the bank and of the people it invents.
RUN python -m venv --without-pip /opt/bank-sandbox \
    && pip --python /opt/bank-sandbox/bin/python install --no-compile --require-hashes --only-binary :all: \
        --requirement requirements/image.txt \
    && pip --python /opt/bank-sandbox/bin/python install --no-compile --no-deps wheels/*.whl \
    && find /opt/bank-sandbox/lib/python3*/site-packages/babel/locale-data -type f \
        ! -name 'root.dat' ! -name 'en*.dat' ! -name 'fr*.dat' ! -name 'nl*.dat' -delete \
    && find /opt/bank-sandbox/lib/python3*/site-packages/faker/providers -mindepth 2 -maxdepth 2 -name '*_*' \
        ! -name '__init__.py' ! -name 'en_GB' ! -name 'en_US' ! -name 'fr_BE' ! -name 'fr_FR' ! -name 'nl_BE' ! -name 'nl_NL' \
        -exec rm -r {} +

# Whoever runs it may not write into it, so Python would compile at each start. What a payment and an agent need is
# compiled here; the modules that nothing imports stay as they are.
ENV PYTHONPYCACHEPREFIX=/opt/bank-sandbox/compiled
COPY deploy/image/collect collect
RUN /opt/bank-sandbox/bin/bank-sandbox scenario run a_payment_goes_its_ordinary_way \
    && /opt/bank-sandbox/bin/bank-sandbox mcp </dev/null \
    && ./collect /opt/bank-sandbox /image


# Neither a package manager nor a Debian: 35 MB of Python and of shared libraries, and 120 MB of packages.
FROM scratch
LABEL org.opencontainers.image.title="bank-sandbox" \
      org.opencontainers.image.description="A Belgian bank's interface for regulated third parties, whole and offline" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /image /

# A volume takes over the owner of the folder it is put on, so both are there already.
RUN ["/opt/bank-sandbox/bin/python", "-c", "import os; \
    [os.makedirs(place) for place in ('/scenarios', '/state', '/tmp', '/etc/bank-sandbox/pki')]; \
    [os.chown(place, 10001, 10001) for place in ('/state', '/etc/bank-sandbox/pki')]; \
    os.chmod('/tmp', 0o1777)"]
USER 10001:10001

ENV PATH=/opt/bank-sandbox/bin:/usr/local/bin:/usr/bin:/bin \
    LANG=C.UTF-8 \
    PYTHONUNBUFFERED=1 \
    PYTHONPYCACHEPREFIX=/opt/bank-sandbox/compiled \
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
