import { z } from 'zod'
import { optionalField } from '../bounded-text.ts'

/** Body of the payment simulation. */
export const simulateBody = z
  .strictObject({
    scenario: z.enum(['paid', 'partial', 'overpaid', 'expired']).describe('Scenario to simulate.'),
  })
  .meta({ id: 'SimulateRequest', description: 'A scenario for a test invoice.' })

/** Body of operations without parameters: absent, null, an empty object, or the empty list that PHP writes for one. */
export const emptyBody = optionalField(z.strictObject({}))
