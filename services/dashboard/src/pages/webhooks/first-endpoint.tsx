import { Button } from '@mantine/core'
import { Link } from 'react-router'
import { EmptyState } from '../../parts/empty-state.tsx'
import { useTo } from '../../session/scope.ts'
import { CodeBlock } from './code-block.tsx'

const SAMPLE = `import { verifyWebhook } from '@paymesh/client'

app.post('/hooks/paymesh', express.raw({ type: '*/*' }), (req, res) => {
  const event = verifyWebhook(
    req.body,
    req.get('X-Webhook-Signature'),
    process.env.PAYMESH_WEBHOOK_SECRET,
  )
  res.sendStatus(200)
  if (event.type === 'invoice.paid') ship(event.data.object)
})`

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
