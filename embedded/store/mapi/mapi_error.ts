/** An answer of the management API that is not a success; the message goes into `X-HCP-ErrorMessage`. */
export class MapiError extends Error {
  override name = "MapiError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** What a caller without the right, or without valid credentials, is told: the store makes no difference. */
export function forbidden(): MapiError {
  return new MapiError(403, "Not permitted, or the credentials are not valid");
}

/** What names a resource that is absent. */
export function notFound(what: string): MapiError {
  return new MapiError(404, `${what} not found`);
}

/** What refuses a member of a body or a parameter. */
export function invalid(what: string, rule: string): MapiError {
  return new MapiError(400, `${what} ${rule}`);
}

/** What refuses a member whose form is right, as things are: it names what is absent, or what cannot change any more. */
export function conflicting(what: string, rule: string): MapiError {
  return new MapiError(409, `${what} ${rule}`);
}
