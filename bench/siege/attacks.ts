import { chunkedUploads, inventedTokenUploads } from "./false_uploads.ts";
import { loginGuesses, s3Guesses } from "./guesses.ts";
import type { Attack } from "./hostile_connections.ts";
import { halfHeads } from "./half_heads.ts";
import { slowLogins } from "./slow_logins.ts";
import { unreadAnswers } from "./unread_answers.ts";

/** The attacks of the siege, in order. */
export const ATTACKS: readonly Attack[] = [
  inventedTokenUploads,
  slowLogins,
  chunkedUploads,
  s3Guesses,
  loginGuesses,
  halfHeads,
  unreadAnswers,
];
