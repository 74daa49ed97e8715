import type { Accounts } from "@/embedded/store/accounts.ts";
import { element } from "./xml.ts";

/** A user as S3's XML shows one; "" for nobody, and for a user who is gone. */
export function ownerElement(accounts: Accounts, name: "Owner" | "Initiator", id: number | null): string {
  const user = id === null ? null : accounts.userById(id);
  return user ? `<${name}>${element("ID", user.guid)}${element("DisplayName", user.name)}</${name}>` : "";
}
