import type { Mode } from '#shared/domain/enumerations.ts'
import { parsePlainUrl } from './plain-url.ts'
import { text } from './text.ts'

/** Where the payer goes after the checkout: https, or `http://localhost` with a test key. Without credentials. */
export function returnUrl(mode: Mode) {
  return text(2_048)
    .meta({ format: 'uri' })
    .superRefine((value, context) => {
      const url = parsePlainUrl(value)
      const local = url?.protocol === 'http:' && url.hostname === 'localhost' && mode === 'test'
      if (url === null || (url.protocol !== 'https:' && !local)) {
        context.addIssue({
          code: 'custom',
          message: mode === 'test' ? 'must be an https URL or http://localhost' : 'must be an https URL',
          input: value,
        })
      } else if (url.username !== '' || url.password !== '') {
        context.addIssue({ code: 'custom', message: 'must not carry credentials', input: value })
      }
    })
}
