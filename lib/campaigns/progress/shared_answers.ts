import { createHash } from "node:crypto";
import { judgeAnswer, type ProgressFile } from "@/lib/campaigns/projection/progress.ts";
import type { ProgressAnswer } from "@/lib/campaigns/projection/types.ts";

/**
 * What reads of progress files mean, one object for all sessions that read the same bytes: each session reads with its own
 * permissions and has a cached result of its own, which would otherwise be a copy of a kilobyte. An object lasts as long as
 * it is used, so this holds nothing that no session has cached.
 */
export class SharedAnswers {
  readonly #answers = new Map<string, WeakRef<ProgressAnswer>>();
  readonly #ended = new FinalizationRegistry<string>((name) => {
    // An equal file may have been read since.
    if (this.#answers.get(name)?.deref() === undefined) this.#answers.delete(name);
  });

  /** The number of files whose meaning is in use. */
  get size(): number {
    return this.#answers.size;
  }

  /** As {@link judgeAnswer}. */
  judge(file: ProgressFile, status: number | null, body: Uint8Array | null): ProgressAnswer {
    if (status !== 200 || body === null) return judgeAnswer(file, status, body);
    const name = `${file} ${createHash("sha256").update(body).digest("base64url")}`;
    const known = this.#answers.get(name)?.deref();
    if (known) return known;
    const answer = judgeAnswer(file, status, body);
    // Those without progress are the same object anyway.
    if (answer.progress === null) return answer;
    this.#answers.set(name, new WeakRef(answer));
    this.#ended.register(answer, name);
    return answer;
  }
}
