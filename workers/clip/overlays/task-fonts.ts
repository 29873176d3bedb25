import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { LoadedFont } from './font-store.ts';

/** In the task's folder: the fonts that its overlays are drawn with. */
export const fontsFolder = 'overlay-fonts';
const fontsConfig = 'overlay-fonts.conf';

/**
 * Puts fonts into the task's folder, and says by which environment a program draws with them and no others:
 * fontconfig would take the machine's fonts otherwise.
 */
export async function placeFonts(
  fonts: readonly LoadedFont[],
  taskFolder: string,
): Promise<Readonly<Record<string, string>>> {
  const folder = join(taskFolder, fontsFolder);
  await mkdir(folder, { recursive: true });
  const paths = [...new Set(fonts.map(({ path }) => path))];
  await Promise.all(paths.map((path) => symlink(path, join(folder, basename(path))).catch(ignoreExisting)));
  const config = join(taskFolder, fontsConfig);
  await writeFile(config, fontconfig(folder, join(taskFolder, 'fontconfig-cache')));
  return { FONTCONFIG_FILE: config };
}

function fontconfig(folder: string, cache: string): string {
  return [
    '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">',
    `<fontconfig><dir>${escaped(folder)}</dir><cachedir>${escaped(cache)}</cachedir></fontconfig>`,
    '',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A retry in the same folder finds its fonts there. */
function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
