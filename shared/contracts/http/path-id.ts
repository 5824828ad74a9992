import { z } from 'zod'

/** Path parameter `{id}`: any UUID in the form of RFC 9562, in lower case as stored. */
export const pathId = z.strictObject({ id: z.guid('must be a UUID').toLowerCase().describe('Id of the resource.') })
