import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';
import { buildImage } from './engine.ts';
import { fingerprintOf, runTool, type StandInRecipe, standInFolder } from './stand-in-recipe.ts';

const npmVersion = '11.19.1';

/** Node.js from the binary of the npm package `node`, which is the one that runs this. */
export const nodeStandIn: StandInRecipe = {
  from: 'the npm packages node and npm',
  fingerprint: () => fingerprintOf('node', [process.version, process.arch, npmVersion]),
  async build({ engine, tag, labels, folder }) {
    await cp(standInFolder('node'), folder, { recursive: true });
    await cp(process.execPath, join(folder, 'node'));
    await runTool('npm', ['install', '--no-save', '--silent', '--prefix', folder, `npm@${npmVersion}`]);
    await cp(join(folder, 'node_modules', 'npm'), join(folder, 'npm'), { recursive: true });
    await writeFile(join(folder, 'trusted.crt'), getCACertificates('system').join('\n'));
    const files = ['Dockerfile', 'node', 'npm', 'trusted.crt'];
    await buildImage(engine, { tag, labels, contextFolder: folder, files });
  },
};
