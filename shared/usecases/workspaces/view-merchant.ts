import type { MerchantView } from '#shared/contracts/checkout/invoice-view.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'

/** The merchant as shown to the payer. */
export function viewMerchant({ name, policy }: Pick<Workspace, 'name' | 'policy'>): MerchantView {
  const { supportContact, brandColour, logo } = policy
  return {
    name,
    contact: supportContact === '' ? null : supportContact,
    logo: logo === null ? null : { ...shown(logo), path: `/logo/${logo.hash}.webp` },
    colour: brandColour === '' ? null : brandColour,
  }
}

const shown = ({ width, height, ground }: { width: number; height: number; ground: 'light' | 'dark' }) => ({
  width,
  height,
  ground,
})
