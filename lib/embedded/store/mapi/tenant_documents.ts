import { CONSOLE_SECURITY_DEFAULTS } from "@/lib/embedded/store/console_security.ts";
import {
  CONSOLE_SECURITY_MEMBERS,
  IP_SETTINGS,
  ipSettings,
  MASK_MEMBERS,
  NAMESPACE_DEFAULT_MEMBERS,
  words,
  wrappedRecords,
} from "@/lib/embedded/store/mapi/document_members.ts";
import { invalid } from "@/lib/embedded/store/mapi/mapi_error.ts";
import { boolean, type Members, oneOf, record, text } from "@/lib/embedded/store/mapi/members.ts";
import type { SettingsDocument } from "@/lib/embedded/store/mapi/settings_document.ts";
import { NAMESPACE_DEFAULTS } from "@/lib/embedded/store/namespace_record.ts";
import { MASK_NAMES } from "@/lib/embedded/store/permission_masks.ts";

const CONTACT = [
  "firstName",
  "lastName",
  "emailAddress",
  "primaryPhone",
  "extension",
  "address1",
  "address2",
  "city",
  "state",
  "zipOrPostalCode",
  "countryOrRegion",
];

/** Most recipients of notifications. */
const MAX_RECIPIENTS = 25;

const RECIPIENT: Members = {
  address: text(1024, 1),
  importance: oneOf("ALL", "MAJOR"),
  severity: oneOf("NOTICE", "WARNING", "ERROR"),
  type: words("GENERAL", "SECURITY", "COMPLIANCE"),
};

const RECIPIENT_DEFAULTS = { importance: "MAJOR", severity: "ERROR", type: "GENERAL" };

const TEMPLATE = { from: "log@$location", subject: "[$severity] $shortText", body: "$fullText" };

/** The settings documents of a tenant. */
export const TENANT_DOCUMENTS: readonly SettingsDocument[] = [
  {
    kind: "consoleSecurity",
    members: CONSOLE_SECURITY_MEMBERS,
    defaults: {
      ...CONSOLE_SECURITY_DEFAULTS,
      disableAfterInactiveDays: 180,
      forcePasswordChangeDays: 180,
      logoutOnInactive: 10,
      coolDownPeriodSettings: false,
      coolDownPeriodDuration: 5,
      loginMessage: "",
      ipSettings: IP_SETTINGS,
    },
    read: "manage users",
    write: "manage users",
  },
  {
    kind: "contactInfo",
    members: Object.fromEntries(CONTACT.map((name) => [name, text(256)])),
    defaults: Object.fromEntries(CONTACT.map((name) => [name, ""])),
    read: "read",
    write: "administer",
  },
  {
    kind: "emailNotification",
    members: {
      enabled: boolean,
      emailTemplate: record({ from: text(256), subject: text(1024), body: text(10_000) }),
      recipients: wrappedRecords("recipient", RECIPIENT, {
        most: MAX_RECIPIENTS,
        required: ["address"],
        defaults: RECIPIENT_DEFAULTS,
      }),
    },
    defaults: { enabled: false, emailTemplate: TEMPLATE, recipients: { recipient: [] } },
    read: "read",
    write: "administer",
    check({ emailTemplate }) {
      const { from, subject } = Object(emailTemplate);
      if ((from === undefined) !== (subject === undefined)) {
        throw invalid("emailTemplate", "must have from and subject together");
      }
    },
  },
  {
    kind: "namespaceDefaults",
    members: NAMESPACE_DEFAULT_MEMBERS,
    defaults: NAMESPACE_DEFAULTS,
    fixed: { dpl: "Dynamic", effectiveDpl: "Dynamic" },
    read: "read",
    write: "administer",
  },
  {
    kind: "searchSecurity",
    members: { ipSettings },
    defaults: { ipSettings: IP_SETTINGS },
    read: "manage users",
    write: "manage users",
  },
  {
    kind: "permissions",
    members: MASK_MEMBERS,
    defaults: { permission: MASK_NAMES },
    read: "read",
    write: "administer",
  },
];
