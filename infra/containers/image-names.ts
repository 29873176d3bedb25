/** The images that the service and its tests stand on: exact versions, so that every run has the same. */
export const imageNames = {
  debian: 'debian:bookworm-slim',
  node: 'node:24-bookworm-slim',
  kafka: 'apache/kafka:4.3.1',
  postgres: 'postgres:18',
  s3: 'versity/versitygw:v1.8.0',
} as const;

export type ImageName = keyof typeof imageNames;
