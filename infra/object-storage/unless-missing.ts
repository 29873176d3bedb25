import { StorageFailure } from './storage-failure.ts';

/** What `reading` of an object gives; undefined where there is no such object. */
export async function unlessMissing<Content>(reading: Promise<Content>): Promise<Content | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof StorageFailure && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}
