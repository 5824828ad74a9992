/** A person's reason as the audit trail keeps it: nothing where none was given. */
export function reasonOf({ reason }: { readonly reason?: string | null }): { readonly reason?: string } {
  return reason === undefined || reason === null || reason === '' ? {} : { reason }
}
