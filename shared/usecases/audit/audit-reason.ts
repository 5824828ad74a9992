/** A person's reason as stored in the audit log; an empty object if none was given. */
export function reasonOf({ reason }: { readonly reason?: string | null }): { readonly reason?: string } {
  return reason === undefined || reason === null || reason === '' ? {} : { reason }
}
