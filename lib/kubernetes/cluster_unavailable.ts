import { HttpError } from "@/lib/http/errors.ts";

/**
 * The cluster could not be read: no response, a late one, an error or an unreadable one. For clients of the API all of
 * that is one condition, a 502 with a fixed sentence; the cause stays inside.
 */
export class ClusterUnavailable extends HttpError {
  /** @param cause what happened, without credentials */
  constructor(cause: unknown) {
    super(502, "the cluster did not answer", { cause });
  }
}
