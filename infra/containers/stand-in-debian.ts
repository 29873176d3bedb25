import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { importImage } from './engine.ts';
import { runTool, type StandInRecipe } from './stand-in-recipe.ts';

const release = 'bookworm';
const leftOut = ['/usr/share/man/*', '/usr/share/doc/*', '/usr/share/locale/*', '/usr/share/info/*'];
const bootstrapArguments = [
  '--variant=minbase',
  '--quiet',
  ...leftOut.map((path) => `--dpkgopt=path-exclude=${path}`),
  // Copyright notices stay, as in every Debian system.
  '--dpkgopt=path-include=/usr/share/doc/*/copyright',
  // As in the official image: an image that is built halfway is thrown away, so no package need wait for the disk.
  '--dpkgopt=force-unsafe-io',
  '--aptopt=Acquire::Languages "none"',
  release,
];

/** A minimal Debian from Debian's package archive. */
export const debianStandIn: StandInRecipe = {
  from: "Debian's packages, by mmdebstrap",
  fingerprint: async () =>
    createHash('sha256').update(bootstrapArguments.join('\n')).digest('hex').slice(0, 16),
  async build({ engine, tag, labels, folder }) {
    await installBootstrapTool();
    const archive = join(folder, 'debian.tar');
    await runTool('mmdebstrap', [...bootstrapArguments, archive]);
    const changes = Object.entries(labels).map(([name, value]) => `LABEL ${name}=${value}`);
    await importImage(engine, { tag, archive, changes: ['CMD ["bash"]', ...changes] });
  },
};

/** mmdebstrap makes a Debian system; as root on Debian and Ubuntu it is installed where it is missing. */
async function installBootstrapTool(): Promise<void> {
  const present = await promisify(execFile)('mmdebstrap', ['--version']).then(
    () => true,
    () => false,
  );
  if (present) return;
  const quiet = { env: { DEBIAN_FRONTEND: 'noninteractive' } };
  await runTool('apt-get', ['-qq', 'update'], quiet);
  await runTool('apt-get', ['-qq', 'install', '--yes', '--no-install-recommends', 'mmdebstrap'], quiet);
}
