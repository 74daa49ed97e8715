/** An error response of the management API; the message goes into `X-HCP-ErrorMessage`. */
export class MapiError extends Error {
  override name = "MapiError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The error for a caller without the right, or without valid credentials: the store makes no difference. */
export function forbidden(): MapiError {
  return new MapiError(403, "Not permitted, or the credentials are not valid");
}

/** The error for an absent resource. */
export function notFound(what: string): MapiError {
  return new MapiError(404, `${what} not found`);
}

/** The error for an invalid member of a body, or an invalid parameter. */
export function invalid(what: string, rule: string): MapiError {
  return new MapiError(400, `${what} ${rule}`);
}

/**
 * The error for a well-formed member that conflicts with the present state: it names what is absent, or what cannot
 * change.
 */
export function conflicting(what: string, rule: string): MapiError {
  return new MapiError(409, `${what} ${rule}`);
}
