import { TIMEOUT_MS } from "./until.ts";

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

  /**
   * Advances it by so much again and again until the work has ended.
   *
   * @throws {Error} where it does not end: the clock would stand still for all later tests of the process
   */
  async passDuring<T>(ms: number, work: Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const lateAt = Date.now() + TIMEOUT_MS;
    const passing = setInterval(() => {
      this.advance(ms);
      if (Date.now() > lateAt) late.reject(new Error(`the work has not ended after ${TIMEOUT_MS} ms`));
    }, PASS_EVERY_MS);
    try {
      return await Promise.race([work, late.promise]);
    } finally {
      clearInterval(passing);
    }
  }

  [Symbol.dispose](): void {
    performance.now = this.#original;
  }
}
