import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { byteReader, cancelBody, ChunksTooSmall, thenCancelBody } from "@/lib/std/body_reader.ts";
import { bodyReader, leavesReadAhead, markReadAhead, MOST_READ_BYTES } from "@/lib/runtime/http.ts";

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/** How often the runtime takes something off connections before the event loop turns. */
const BUDGET = 128;

interface Chunked {
  readonly chunkBytes: number;
  readonly chunks: number;
  /** The largest read so far on the connection, bytes. */
  readonly usedBytes?: number;
  /** Whether the client sends one chunk a turn, and not as fast as it can. */
  readonly slow?: boolean;
}

/**
 * A chunked body as the runtime (Deno 2.9) gives it: each read takes as much off the connection as the largest read did,
 * answers with no more than the rest of one chunk, and keeps what is left.
 */
class Connection {
  /** The most that the runtime kept, bytes. */
  mostKept = 0;
  /** What reads left behind, bytes in all: each of them moves that. */
  moved = 0;
  reads = 0;
  largest: number;
  readonly body: Body;
  readonly #chunked: Chunked;
  readonly #total: number;
  #arrived = 0;
  #kept = 0;
  #given = 0;
  #budget = BUDGET;

  constructor(chunked: Chunked) {
    this.#chunked = chunked;
    this.#total = chunked.chunkBytes * chunked.chunks;
    this.largest = chunked.usedBytes ?? 1024;
    this.body = new ReadableStream({
      type: "bytes",
      pull: (controller) => this.#pull(controller),
      cancel: () => {
        this.#given = this.#total;
      },
    }) as Body;
    const turn = () => {
      this.#budget = BUDGET;
      if (this.#given < this.#total) setImmediate(turn);
    };
    setImmediate(turn);
  }

  async #pull(controller: ReadableByteStreamController): Promise<void> {
    const view = controller.byobRequest?.view;
    assert.ok(view, "must be read into given memory");
    this.reads++;
    this.largest = Math.max(this.largest, view.byteLength);
    this.#take();
    while (this.#kept === 0 && this.#given < this.#total) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      this.#take();
    }
    if (this.#given === this.#total) controller.close();
    const { chunkBytes } = this.#chunked;
    const length = Math.min(view.byteLength, chunkBytes - this.#given % chunkBytes, this.#kept);
    new Uint8Array(view.buffer, view.byteOffset, length).fill(Math.floor(this.#given / chunkBytes) % 251);
    this.#given += length;
    this.#kept -= length;
    this.moved += this.#kept;
    this.mostKept = Math.max(this.mostKept, this.#kept);
    controller.byobRequest?.respond(length);
  }

  #take(): void {
    if (this.#budget === 0) return;
    if (this.#chunked.slow) this.#budget = 1;
    const most = this.#chunked.slow ? this.#chunked.chunkBytes : this.largest;
    const taken = Math.min(most, this.#total - this.#arrived);
    if (taken > 0) this.#budget--;
    this.#arrived += taken;
    this.#kept += taken;
  }
}

/** Reads a body to its end with turns of the event loop between the chunks, as a caller that waits for a store. */
async function readSlowly(body: Body, chunkBytes: number): Promise<number> {
  const reader = bodyReader(body, null);
  let length = 0;
  for (let bytes; (bytes = await reader.read()) !== null;) {
    for (let at = 0; at < bytes.length; at += 101) {
      assert.equal(bytes[at], Math.floor((length + at) / chunkBytes) % 251, `byte ${length + at}`);
    }
    length += bytes.length;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return length;
}

async function readInTurns(body: Body, bytes: number): Promise<void> {
  const reader = body.getReader({ mode: "byob" });
  while (!(await reader.read(new Uint8Array(bytes))).done) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

Deno.test("body reader: of a chunked body the runtime never keeps more than it takes in one turn", async () => {
  for (const [chunkBytes, chunks] of [[1000, 8000], [5000, 2000], [16_384, 1000], [300_000, 50]]) {
    const total = chunkBytes * chunks;
    for (const usedBytes of [1024, MOST_READ_BYTES]) {
      const connection = new Connection({ chunkBytes, chunks, usedBytes });
      assert.equal(await readSlowly(connection.body, chunkBytes), total);
      const what = `chunks of ${chunkBytes} bytes, ${usedBytes} read before`;
      assert.ok(connection.largest <= MOST_READ_BYTES, what);
      assert.ok(connection.mostKept <= (2 * BUDGET + 1) * MOST_READ_BYTES, `${what}: ${connection.mostKept} kept`);
    }
  }
  const chunked = { chunkBytes: 5000, chunks: 2000 };
  const inBursts = new Connection(chunked);
  await readSlowly(inBursts.body, chunked.chunkBytes);
  const inTurns = new Connection(chunked);
  await readInTurns(inTurns.body, MOST_READ_BYTES);
  assert.ok(inTurns.moved > 4 * inBursts.moved, `${inTurns.moved} ${inBursts.moved}`);
});

Deno.test("body reader: reads become larger only where the chunks fill them", async () => {
  const small = new Connection({ chunkBytes: 300, chunks: 10_000 });
  await readSlowly(small.body, 300);
  assert.equal(small.largest, 1024);
  // Long enough for a few bursts, of which each may ask for twice as much as the one before.
  const large = new Connection({ chunkBytes: 100_000, chunks: 300 });
  await readSlowly(large.body, 100_000);
  assert.equal(large.largest, MOST_READ_BYTES);
});

Deno.test("body reader: tiny chunks at full speed are rejected, those of a slow sender are not", async () => {
  const fast = new Connection({ chunkBytes: 10, chunks: 200_000, usedBytes: MOST_READ_BYTES });
  await assert.rejects(readSlowly(fast.body, 10), ChunksTooSmall);
  assert.ok(fast.reads < 10_000, "before it has held others up for long");
  cancelBody({ method: "PUT", body: fast.body } as Request);
  const slow = new Connection({ chunkBytes: 10, chunks: 20_000, slow: true });
  assert.equal(await readSlowly(slow.body, 10), 200_000);
});

Deno.test("body reader: tells which bodies leave the runtime reading ahead", async () => {
  const post = (body: Body) => new Request("http://localhost/", { method: "POST", body });
  const read = async (chunked: Chunked, lengthBytes: number | null) => {
    const connection = new Connection(chunked);
    // A request made here would put a stream of its own around the body.
    const request = { method: "POST", body: connection.body } as Request;
    const reader = bodyReader(connection.body, lengthBytes);
    while (await reader.read() !== null);
    return leavesReadAhead(request);
  };
  assert.equal(await read({ chunkBytes: 50, chunks: 10 }, null), false);
  assert.equal(await read({ chunkBytes: 50_000, chunks: 10 }, null), true);
  assert.equal(await read({ chunkBytes: 60_000, chunks: 1 }, 60_000), false);
  assert.equal(await read({ chunkBytes: 70_000, chunks: 1 }, 70_000), true);
  const request = post(new Response("handed on").body as Body);
  assert.equal(leavesReadAhead(request), false);
  markReadAhead(request.body as Body);
  assert.equal(leavesReadAhead(request), true);
  assert.equal(leavesReadAhead(new Request("http://localhost/")), false);
});

Deno.test("body reader: the rest of a body is cancelled after the response, also while it is read", async () => {
  const request = (cancelled: string[], read?: (body: Body) => void) => {
    const body: Body = new ReadableStream({
      type: "bytes",
      cancel: () => void cancelled.push("cancelled"),
    }) as Body;
    read?.(body);
    return { method: "PUT", body } as Request;
  };
  const readers: ((body: Body) => void)[] = [
    () => {},
    (body) => void bodyReader(body, null),
    (body) => void bodyReader(body, null).read(),
    (body) => void bodyReader(body, 10).read(),
    (body) => void bodyReader(body, 100_000).read(),
  ];
  for (const read of readers) {
    const cancelled: string[] = [];
    await thenCancelBody(request(cancelled, read), () => new Response());
    assert.deepEqual(cancelled, ["cancelled"]);
    const fails = thenCancelBody(request(cancelled, read), () => {
      throw new Error("broken");
    });
    await assert.rejects(fails, /broken/);
    assert.equal(cancelled.length, 2);
  }
  const elsewhere: string[] = [];
  cancelBody(request(elsewhere, (body) => void body.getReader()));
  assert.deepEqual(elsewhere, [], "the reader of another is not ours");
});

Deno.test("body reader: only a byte stream has a reader into given memory, and a locked one has none", () => {
  assert.equal(byteReader(new ReadableStream()), null);
  const bytes: Body = new ReadableStream({ type: "bytes" });
  assert.ok(byteReader(bytes) instanceof ReadableStreamBYOBReader);
  assert.throws(() => byteReader(bytes), TypeError);
});
