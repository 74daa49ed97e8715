/** The words of the form that shares an object. */
export const LABELS = {
  validFor: "The link is valid for",
  hour: "1 hour",
  day: "1 day",
  week: "7 days",
  other: "another time",
  number: "Number",
  unit: "Unit",
  minutes: "minutes",
  hours: "hours",
  days: "days",
  create: "Create a link",
  link: "Link",
  copy: "Copy",
  copyLink: "Copy the link",
  copyCurl: "Copy as curl command",
  copyAws: "Copy as AWS CLI command",
  qrCode: "The link as a QR code",
};

/** The sentences of the form that shares an object. */
export const SENTENCES = {
  whatItIs: "Anyone who has the link can read the object without a login until the link expires.",
  needsScripts: "Creating a link needs scripts.",
  newest: "The link leads to the current version, also after the object has been replaced.",
  receiver: (name: string, kind: string, until: string) =>
    `The receiver gets “${name}” (${kind}) until ${until}. The link cannot be withdrawn before then.`,
  machine:
    "The link works on this machine only: the address of the store is a loopback address. An operator can set S3_PUBLIC_ENDPOINT_URL.",
  network:
    "The link works only where the private address of the store can be reached. An operator can set S3_PUBLIC_ENDPOINT_URL.",
  noLink: "No link can hold this key, since it has a segment of one or two dots. Copy the object under another key.",
  outOfRange: "A link is valid for at least one minute and at most 7 days.",
  tooLongForQr: "The link is too long for a QR code.",
  copied: "Copied.",
  notCopied: "The browser does not allow copying. Select the link and copy it.",
  noUrl: (status: number) => `The link was not created (the store answered ${status}). Try again later.`,
};
