import type { Ms } from '#shared/domain/invoice/model.ts'

/** A time as mails show it, with its zone. */
export function mailTime(at: Ms): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
