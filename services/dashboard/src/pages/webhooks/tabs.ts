import { useTo } from '../../session/scope.ts'

/** The three parts of the webhooks page, as tabs with addresses of their own. */
export function useWebhookTabs(current: 'endpoints' | 'deliveries' | 'events', endpoints?: number) {
  const to = useTo()
  return [
    {
      label: 'Endpoints',
      to: to('webhooks/endpoints'),
      current: current === 'endpoints',
      count: endpoints === undefined ? undefined : String(endpoints),
    },
    { label: 'Deliveries', to: to('webhooks/deliveries'), current: current === 'deliveries' },
    { label: 'Events', to: to('webhooks/events'), current: current === 'events' },
  ]
}
