/**
 * What every answer of the embedded S3 carries: it may share a host with pages of Stackroom, so what somebody stored is
 * never guessed to be a page, and a page among it runs no script and has no origin.
 */
export function withSandboxHeaders(response: Response): Response {
  response.headers.set("x-content-type-options", "nosniff");
  response.headers.set("content-security-policy", "sandbox");
  return response;
}
