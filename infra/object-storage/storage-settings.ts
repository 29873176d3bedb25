import type { Config } from '../config.ts';
import type { ObjectStorageSettings } from './object-storage.ts';

/** The object storage of the `S3_` settings. */
export const storageSettings = (config: Config): ObjectStorageSettings => ({
  endpoint: config.S3_ENDPOINT,
  publicEndpoint: config.S3_PUBLIC_ENDPOINT,
  region: config.S3_REGION,
  bucket: config.S3_BUCKET,
  accessKeyId: config.S3_ACCESS_KEY_ID,
  secretAccessKey: config.S3_SECRET_ACCESS_KEY,
  forcePathStyle: config.S3_FORCE_PATH_STYLE,
});
