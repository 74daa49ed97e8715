/** The words of an object's tags. */
export const LABELS = {
  name: (row: number) => `Name of tag ${row}`,
  value: (row: number) => `Value of tag ${row}`,
  nameHint: "Name",
  valueHint: "Value",
  edit: "Edit the tags",
  add: "Add a tag",
  removeRow: (row: number) => `Remove tag ${row}`,
  save: "Save",
  cancel: "Cancel",
};

/** The sentences of an object's tags. */
export const SENTENCES = {
  none: "The object has no tags.",
  saved: "Saved.",
  twice: "Two tags have the same name.",
  badTag:
    "A name has 1 to 128 characters and does not begin with aws:, a value has at most 256: letters, digits, spaces and + - = . _ : / @.",
  noRight: "This account may not change the tags. The owner of the bucket can allow that.",
  noTags: "The store does not support tags.",
  other: (status: number) => `The tags were not saved (the store answered ${status}). Try again later.`,
};
