import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buildImage } from './engine.ts';
import { imageNames } from './image-names.ts';
import { fingerprintOf, runTool, type StandInRecipe, standInFolder } from './stand-in-recipe.ts';

const module = 'github.com/versity/versitygw/cmd/versitygw';
const version = imageNames.s3.split(':')[1] ?? '';

/** Versity's S3 gateway, compiled from its Go module: one static program, the only file of the image. */
export const versitygwStandIn: StandInRecipe = {
  from: 'its Go module',
  fingerprint: () => fingerprintOf('versitygw', [module, version]),
  async build({ engine, tag, labels, folder, onProgress }) {
    await cp(standInFolder('versitygw'), folder, { recursive: true });
    // The folder for the objects: an image from scratch has neither /srv nor mkdir.
    await mkdir(join(folder, 'srv'));
    onProgress('compiling the S3 server takes about 3 minutes the first time');
    await runTool('go', ['install', '-trimpath', '-ldflags=-s -w', `${module}@${version}`], {
      env: { GOBIN: folder, CGO_ENABLED: '0' },
    });
    const files = ['Dockerfile', 'versitygw', 'srv'];
    await buildImage(engine, { tag, labels, contextFolder: folder, files });
  },
};
