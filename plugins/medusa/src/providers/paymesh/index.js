import { ModuleProvider, Modules } from '@medusajs/framework/utils'
import { PaymeshProvider } from './service.js'

// biome-ignore lint/style/noDefaultExport: Medusa loads a provider by it.
export default ModuleProvider(Modules.PAYMENT, { services: [PaymeshProvider] })
