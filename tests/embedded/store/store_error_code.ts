/** The code of the refusal that a promise of an S3 client ends in; "ok" where it does not. */
export async function storeErrorCode(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error.name;
  }
  return "ok";
}
