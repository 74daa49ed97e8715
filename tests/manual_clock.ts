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

  [Symbol.dispose](): void {
    performance.now = this.#original;
  }
}
