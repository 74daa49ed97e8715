import { HttpError } from "@/lib/http/errors.ts";
import { S3Failure } from "./errors.ts";

/** Says by name which operation a store lacks: 501 instead of the store's own words. Other failures stay as they are. */
export async function supported<T>(operation: string, backend: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof S3Failure && (error.storeStatus === 501 || error.code === "NotImplemented")) {
      throw new HttpError(501, `'${operation}' is not supported by the ${backend} backend`, { cause: error });
    }
    throw error;
  }
}
