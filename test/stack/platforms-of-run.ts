import { type ChosenPlatform, startPlatform } from './choose-platform.ts';
import type { PlatformBackEnd } from './platform.ts';
import { type PlatformControl, type RunIdentity, servePlatformControl } from './platform-control.ts';

type Begun = { readonly starting: Promise<ChosenPlatform>; readonly control: PlatformControl };

/** The platform that test files share, and those that some have for themselves: all of one kind. */
export class PlatformsOfRun {
  readonly #run: RunIdentity;
  readonly #begun: Begun[] = [];

  constructor(run: RunIdentity) {
    this.#run = run;
  }

  /** Begins one, and gives the address at which test files wait for it. */
  async begin(): Promise<string> {
    const [first] = this.#begun;
    const starting = first === undefined ? this.#startFirst() : this.#startLike(first.starting);
    // Every test file that needs it hears why there is none.
    starting.catch(() => undefined);
    const control = await servePlatformControl({
      platform: starting.then(({ platform }) => platform),
      run: this.#run,
      beginAnother: () => this.begin(),
    });
    this.#begun.push({ starting, control });
    return control.url;
  }

  /** The sentence about the back end, once it is known. */
  get verdict(): Promise<string | undefined> {
    return Promise.resolve(this.#begun[0]?.starting).then(
      (chosen) => chosen?.verdict,
      () => undefined,
    );
  }

  /** Begins to; whoever needs the image waits for it, and hears of a failure. */
  buildServiceImage(): void {
    const [first] = this.#begun;
    first?.starting.then(({ platform }) => platform.provideServiceImage()).catch(() => undefined);
  }

  async stop(): Promise<void> {
    for (const { starting, control } of this.#begun) {
      control.close();
      const started = await starting.catch(() => undefined);
      await started?.platform.stop();
    }
  }

  #startFirst(): Promise<ChosenPlatform> {
    return startPlatform({ ...this.#run, index: 0, wanted: process.env['TEST_PLATFORM'] || undefined, say });
  }

  async #startLike(first: Promise<ChosenPlatform>): Promise<ChosenPlatform> {
    const index = this.#begun.length;
    const { platform: model, verdict } = await first;
    const { platform } = await startPlatform({ ...this.#run, index, wanted: model.backEnd, say });
    return { platform: withImageOf(model, platform), verdict };
  }
}

const say = (line: string): boolean => process.stderr.write(`[platform] ${line}\n`);

/** The service's image is one for all platforms of a run, and built once. */
function withImageOf(model: PlatformBackEnd, platform: PlatformBackEnd): PlatformBackEnd {
  return {
    backEnd: platform.backEnd,
    servers: platform.servers,
    containers: platform.containers,
    kill: (part) => platform.kill(part),
    start: (part) => platform.start(part),
    provideServiceImage: () => model.provideServiceImage(),
    stop: () => platform.stop(),
  };
}
