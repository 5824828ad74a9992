import type { Mode } from '#shared/domain/enumerations.ts'

/** A thing that was found: where it is behind `/{workspace}/{mode}/`. */
export interface Found {
  readonly label: string
  readonly detail: string
  readonly page: string
}

/** Asks the server what a number, order, address, hash, `evt_`, `whd_` or e-mail belongs to. */
export async function findEverywhere(_input: {
  readonly workspaceId: string
  readonly mode: Mode
  readonly text: string
}): Promise<readonly Found[]> {
  return []
}
