import { createHash } from "node:crypto";
import { invalid } from "@/lib/embedded/store/mapi/mapi_error.ts";

const MIN_LENGTH = 6;
const MAX_LENGTH = 64;

/** The MD5 by which the store knows a new password. Throws 400 where the password breaks the rules. */
export function newPasswordMd5(password: string | null): string {
  if (password === null) throw invalid("password", "is required");
  if (password.length < MIN_LENGTH || password.length > MAX_LENGTH) {
    throw invalid("password", `must have ${MIN_LENGTH} to ${MAX_LENGTH} characters`);
  }
  const kinds = [/\p{L}/u, /\p{Nd}/u, /[^\p{L}\p{Nd}]/u].filter((kind) => kind.test(password));
  if (kinds.length < 2) throw invalid("password", "must mix at least two of letters, digits and other characters");
  return passwordMd5(password);
}

/** Hexadecimal MD5 of a password in UTF-8: half of the management API's token, and the S3 secret key. */
export function passwordMd5(password: string): string {
  return createHash("md5").update(password).digest("hex");
}
