/** Lets the browser save a file under this name. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/**
 * Lets the browser save a table that people open, in CSV. It begins with the mark of UTF-8, without which Excel reads a file in the code page of its
 * computer, and shows other signs for accents (Microsoft, "Opening CSV UTF-8 files correctly in Excel").
 */
export function saveTable(csv: Blob | string, name: string): void {
  save(new Blob(['\uFEFF', csv], { type: 'text/csv' }), name)
}
