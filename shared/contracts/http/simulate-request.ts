import { z } from 'zod'

/** Body of the payment simulation. */
export const simulateBody = z
  .strictObject({
    scenario: z.enum(['paid', 'partial', 'overpaid', 'expired']).describe('Scenario to simulate.'),
  })
  .meta({ id: 'SimulateRequest', description: 'A scenario for a test invoice.' })

/** Body of operations without parameters: absent or an empty object. */
export const emptyBody = z.strictObject({}).optional()
