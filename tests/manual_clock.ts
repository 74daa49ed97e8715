const PASS_EVERY_MS = 5;

/** The clock of deadlines while a test has it: it stands still but where the test advances it. */
export class ManualClock implements Disposable {
  readonly #original = performance.now;
  #ms = Math.ceil(performance.now());

  constructor() {
    performance.now = () => this.#ms;
  }

  advance(ms: number): void {
    this.#ms += ms;
  }

  /** Advances it by so much again and again until the work has ended. */
  async passDuring<T>(ms: number, work: Promise<T>): Promise<T> {
    const passing = setInterval(() => this.advance(ms), PASS_EVERY_MS);
    try {
      return await work;
    } finally {
      clearInterval(passing);
    }
  }

  [Symbol.dispose](): void {
    performance.now = this.#original;
  }
}
