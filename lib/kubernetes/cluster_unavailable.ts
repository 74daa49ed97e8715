import { HttpError } from "@/lib/http/errors.ts";

/**
 * The cluster could not be read: it did not answer, answered late, refused us or answered nonsense. For whoever asks
 * the API all of that is one condition, a 502 with a fixed sentence; the cause stays inside.
 */
export class ClusterUnavailable extends HttpError {
  /** @param cause what happened, without credentials */
  constructor(cause: unknown) {
    super(502, "the cluster did not answer", { cause });
  }
}
