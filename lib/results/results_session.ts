/** A signed-in user of the results store. */
export interface ResultsSession {
  readonly user: string;
  /** Of the session's token: what is kept for the session is kept under it. Another account may get the user's name. */
  readonly digest: string;
  /** The `Cookie` header by which the results role knows the session: that one cookie, under its plain name. */
  readonly cookie: string;
}

/**
 * Tells who asks by the request's session cookie.
 *
 * It throws an HttpError: 401 without a valid session, 502 when the results role does not answer.
 */
export type SessionCheck = (request: Request) => Promise<ResultsSession>;
