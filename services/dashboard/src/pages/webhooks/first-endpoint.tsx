import { Button } from '@mantine/core'
import { Link } from 'react-router'
import { EmptyState } from '../../parts/empty-state.tsx'
import { useTo } from '../../session/scope.ts'
import { CodeBlock } from './code-block.tsx'

const SAMPLE = `import { createWebhookHandler } from '@paymesh/client'

const webhooks = createWebhookHandler({
  client: paymesh,
  secret: process.env.PAYMESH_WEBHOOK_SECRET,
  paid: (invoice) => shipOnce(invoice.order_id, invoice),
  partly: (invoice) => showPart(invoice.order_id),
  ended: (invoice) => release(invoice.order_id, invoice),
})
app.post('/hooks/paymesh', webhooks.node)`

/** An introduction to webhooks before the first endpoint, with code that verifies the signature. */
export function FirstEndpoint({ hasEndpoints }: { readonly hasEndpoints: boolean }) {
  const to = useTo()
  if (hasEndpoints) {
    return (
      <EmptyState
        title="No deliveries yet."
        text="Events are sent as soon as an invoice changes. Send a test event to try it out."
      >
        <Button component={Link} to={to('webhooks/endpoints')} variant="default">
          Endpoints
        </Button>
      </EmptyState>
    )
  }
  return (
    <EmptyState
      title="Add a webhook endpoint to be notified of payments."
      text={
        <>
          <p>Return any 2xx status within 10 s, and verify the signature before you trust the body:</p>
          <div className="pm-sample">
            <CodeBlock label="Signature verification code">{SAMPLE}</CodeBlock>
          </div>
        </>
      }
    >
      <Button component={Link} to={`${to('webhooks/endpoints')}?add=yes`}>
        Add endpoint
      </Button>
    </EmptyState>
  )
}
