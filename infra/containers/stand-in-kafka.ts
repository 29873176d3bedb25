import { cp, mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureJavaLibraries } from '../embedded/java-libraries.ts';
import { buildImage } from './engine.ts';
import { fingerprintOf, runTool, type StandInRecipe, standInFolder } from './stand-in-recipe.ts';

const librariesFolder = fileURLToPath(new URL('../../.data/lib', import.meta.url));
/** What a broker loads, found by `jdeps` and by trying; a whole JDK would be four times as large. */
const javaModules = [
  'java.base',
  // java.beans, for log4j.
  'java.desktop',
  'java.logging',
  'java.management',
  'java.naming',
  'java.rmi',
  'java.security.jgss',
  'java.security.sasl',
  'java.sql',
  'java.xml',
  'jdk.crypto.ec',
  'jdk.management',
  'jdk.security.auth',
  'jdk.unsupported',
  'jdk.zipfs',
];

/** Apache Kafka from the jars of Maven Central, on a Java runtime cut out of this machine's JDK. */
export const kafkaStandIn: StandInRecipe = {
  from: "Maven Central's jars",
  async fingerprint() {
    const { kafkaClassPath } = await ensureJavaLibraries(librariesFolder, { onProgress: () => {} });
    const jars = kafkaClassPath.split(':').map((jar) => basename(jar));
    return fingerprintOf('kafka', [...jars, ...javaModules]);
  },
  async build({ engine, tag, labels, folder, onProgress }) {
    const { kafkaClassPath } = await ensureJavaLibraries(librariesFolder, { onProgress });
    await cp(standInFolder('kafka'), folder, { recursive: true });
    await mkdir(join(folder, 'jars'));
    const jars = kafkaClassPath.split(':').map((jar) => cp(jar, join(folder, 'jars', basename(jar))));
    const runtime = runTool('jlink', [
      ...['--add-modules', javaModules.join(',')],
      ...['--strip-debug', '--no-man-pages', '--no-header-files'],
      ...['--output', join(folder, 'java')],
    ]);
    await Promise.all([...jars, runtime]);
    const files = ['Dockerfile', 'start-kafka.sh', 'jars', 'java'];
    await buildImage(engine, { tag, labels, contextFolder: folder, files });
  },
};
