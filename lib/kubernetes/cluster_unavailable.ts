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

/** The account may not do what was requested: a right is missing, so another attempt fails as well. */
export class ClusterForbidden extends ClusterUnavailable {
  constructor() {
    super("status 403");
  }
}
