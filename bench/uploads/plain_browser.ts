import { findBrowser } from "@/tests/browser/chromium.ts";

/** A page of a Chromium that is driven by a few commands of its protocol. */
export interface PlainPage {
  /** Runs an expression in the page, and returns what it, or its promise, gives. */
  evaluate<Result>(expression: string): Promise<Result>;
  goTo(url: string): Promise<void>;
  /** Chooses files, or a folder, in an input. */
  choose(selector: string, paths: readonly string[]): Promise<void>;
  /** Waits until an expression is true. */
  until(expression: string): Promise<void>;
  /** Memory that the processes of the browser's pages have for themselves, bytes: the most of them. */
  memory(): number;
  close(): Promise<void>;
}

/** Interval between checks of a condition, ms. */
const LOOK_MS = 50;

/**
 * A Chromium without the observers of a test driver: these receive every request with its body, which costs a page that
 * sends thousands of files several times its own work.
 *
 * @param args further flags
 */
export async function openPlainPage(args: readonly string[] = []): Promise<PlainPage> {
  const { executable, env } = await findBrowser(Deno.env.toObject());
  const profile = await Deno.makeTempDir();
  const child = new Deno.Command(executable, {
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--remote-debugging-port=0",
      `--user-data-dir=${profile}`,
      ...args,
      "about:blank",
    ],
    env: { ...Deno.env.toObject(), ...env },
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const origin = await debuggingOrigin(child.stderr);
  const targets: { type: string; webSocketDebuggerUrl: string }[] = await (await fetch(`${origin}/json/list`)).json();
  const target = targets.find(({ type }) => type === "page");
  if (!target) throw new Error("the browser has no page");
  const send = await connect(target.webSocketDebuggerUrl);
  const evaluate = async (expression: string) => {
    const { result, exceptionDetails } = await send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  const until = async (expression: string) => {
    // A page that is being left has no context for a moment.
    while (await evaluate(expression).catch(() => false) !== true) await new Promise((go) => setTimeout(go, LOOK_MS));
  };
  return {
    evaluate,
    until,
    async goTo(url) {
      await send("Page.navigate", { url });
      await until(`document.readyState === "complete" && location.href !== "about:blank"`);
    },
    async choose(selector, files) {
      const { result } = await send("Runtime.evaluate", {
        expression: `document.querySelector(${JSON.stringify(selector)})`,
      });
      await send("DOM.setFileInputFiles", { files, objectId: result.objectId });
    },
    memory: () => rendererMemory(child.pid),
    async close() {
      child.kill("SIGTERM");
      await child.status;
      await Deno.remove(profile, { recursive: true }).catch(() => {});
    },
  };
}

async function debuggingOrigin(stderr: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  const reader = stderr.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the browser ended: ${text}`);
    text += value;
    const port = /DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)\//.exec(text)?.[1];
    if (port === undefined) continue;
    void (async () => {
      while (!(await reader.read()).done);
    })();
    return `http://127.0.0.1:${port}`;
  }
}

// deno-lint-ignore no-explicit-any -- responses of the browser's protocol
type Send = (method: string, params: object) => Promise<any>;

async function connect(url: string): Promise<Send> {
  const socket = new WebSocket(url);
  await new Promise((opened, failed) => {
    socket.onopen = opened;
    socket.onerror = failed;
  });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  socket.onmessage = ({ data }) => {
    const { id, result, error } = JSON.parse(data);
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error) asked?.reject(new Error(error.message));
    else asked?.resolve(result);
  };
  let last = 0;
  return (method, params) => {
    const asked = Promise.withResolvers<unknown>();
    waiting.set(++last, asked);
    socket.send(JSON.stringify({ id: last, method, params }));
    return asked.promise;
  };
}

/** Anonymous memory of the largest renderer among a process's descendants. */
function rendererMemory(root: number): number {
  const parents = new Map<number, number>();
  const renderers: number[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = Deno.readTextFileSync(`/proc/${name}/stat`);
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
      if (Deno.readTextFileSync(`/proc/${name}/cmdline`).includes("--type=renderer")) renderers.push(Number(name));
    } catch {
      // It has ended meanwhile.
    }
  }
  const isOurs = (pid: number): boolean => pid === root || (parents.has(pid) && isOurs(parents.get(pid) ?? 0));
  const sizes = renderers.filter(isOurs).map((pid) => {
    try {
      return Number(/RssAnon:\s+(\d+) kB/.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
    } catch {
      return 0;
    }
  });
  return Math.max(0, ...sizes);
}
