const START_MS = 30_000;
const POLL_MS = 20;

/** A service as a process of this machine. */
export class ServiceProcess {
  output = "";
  readonly #child: Deno.ChildProcess;
  readonly #read: Promise<unknown>;
  #isOver = false;

  constructor(
    readonly name: string,
    folder: string,
    [command, ...args]: readonly string[],
    env: Record<string, string>,
  ) {
    const options = {
      args,
      env,
      cwd: folder,
      clearEnv: true,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    } as const;
    this.#child = new Deno.Command(command, options).spawn();
    const collect = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
      for await (const text of stream.pipeThrough(new TextDecoderStream())) this.output += text;
    };
    this.#read = Promise.all([collect(this.#child.stdout), collect(this.#child.stderr)]);
    this.#child.status.then(() => this.#isOver = true);
  }

  /** Waits until it accepts connections. */
  async listening(port: number): Promise<void> {
    for (const end = Date.now() + START_MS;;) {
      try {
        return (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      } catch {
        if (this.#isOver || Date.now() > end) throw new Error(`${this.name} does not start:\n${this.output}`);
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    }
  }

  /** Its lines that are JSON. */
  log(): Record<string, unknown>[] {
    return this.output.split("\n").filter((line) => line.startsWith("{") && line.endsWith("}")).map((line) =>
      JSON.parse(line)
    );
  }

  async stop(): Promise<void> {
    if (!this.#isOver) this.#child.kill("SIGTERM");
    await this.#child.status;
    await this.#read;
  }
}
