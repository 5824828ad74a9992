import type { GoLiveWords } from './words.ts'

/** The check in Spanish. */
export const ES: GoLiveWords = {
  states: { open: 'Abierto', passed: 'Superado', failed: 'Con fallo', out_of_date: 'Caducado' },
  steps: { seen: 'visto', confirming: 'confirmando', paid: 'pagado', delivered: 'webhook entregado' },
  items: {
    address: {
      title: 'Dirección en tu propio monedero',
      why: 'Si Paymesh derivara otras direcciones que tu monedero, no podrías gastar lo que pagan tus clientes.',
      mend: 'Abre tu monedero en la ruta indicada y escribe la dirección que muestra. Si difiere, desactiva este monedero y añade la clave correcta.',
    },
    nodes: {
      title: 'Nodos accesibles y dentro de la cuota',
      why: 'Sin un nodo, los pagos se ven tarde. Una cuota agotada termina en rechazos.',
      mend: 'Mira Sistema, Chains, o ejecuta paymesh chain status. Corrige PAYMESH_NETWORKS o aumenta la cuota.',
    },
    second_source: {
      title: 'Una segunda fuente para cada red',
      why: 'Un nodo puede fallar, retrasarse o mentir. Antes de confirmar un pago se consulta otro en un servidor distinto.',
      mend: 'Añade una segunda URL de otro proveedor en rpcUrls de cada red en PAYMESH_NETWORKS.',
    },
    webhook: {
      title: 'Webhook accesible y verificado',
      why: 'Tu tienda se entera de los pagos por webhooks. Un destino que nunca se probó puede rechazarlos.',
      mend: 'Añade un destino, envíale un evento de prueba y comprueba que tu receptor verifica la firma y responde 2xx.',
    },
    second_factor: {
      title: 'Segundo factor para propietarios y administradores',
      why: 'Con una sola contraseña robada se podría cambiar el monedero que recibe.',
      mend: 'Cada persona activa la autenticación de dos factores en su cuenta.',
    },
    master_key: {
      title: 'Clave maestra guardada en otro lugar',
      why: 'Una copia de seguridad no contiene la clave maestra. Sin ella, los valores sellados se pierden para siempre.',
      mend: 'Guarda PAYMESH_MASTER_KEY y PAYMESH_KEY_PEPPER fuera del servidor, en un gestor de contraseñas o una caja fuerte, y decláralo aquí.',
    },
    backup: {
      title: 'Copia de seguridad hecha y verificada',
      why: 'Sin una copia legible, un disco roto acaba con tus registros de cobros y direcciones.',
      mend: 'Ejecuta paymesh backup create y después paymesh backup verify --record con el archivo, al menos una vez por semana.',
    },
    mail: {
      title: 'El correo funciona',
      why: 'Los propietarios reciben avisos por correo sobre monederos cambiados, webhooks con fallos y pagos por decidir.',
      mend: 'Configura PAYMESH_SMTP_URL y PAYMESH_MAIL_FROM, envía un correo de prueba y comprueba de nuevo al cabo de un minuto.',
    },
    payment: {
      title: 'Un pequeño pago propio',
      why: 'Solo un pago real demuestra todo el camino desde la cadena hasta tu tienda.',
      mend: 'Crea el cobro de prueba, págalo desde tu propio monedero y comprueba de nuevo hasta que se entregue el webhook.',
    },
  },
  reasons: {
    no_wallet: () => 'Ningún monedero recibe en este modo.',
    address_differs: () => 'La dirección difiere de la que deriva Paymesh. No aceptes pagos con este monedero.',
    no_node: (about) => `No hay ningún nodo configurado: ${about}.`,
    node_silent: (about) => `Sin respuesta: ${about}.`,
    quota_used: (about) => `La cuota está casi agotada: ${about}.`,
    one_source: (about) => `Una sola fuente: ${about}.`,
    no_endpoint: () => 'Ningún destino activo recibe eventos de este modo.',
    webhook_untested: (about) => `Aún no se entregó nada: ${about}.`,
    webhook_failing: (about) => `La última entrega falló: ${about}.`,
    factor_missing: (about) => `Sin segundo factor: ${about}.`,
    backup_missing: () => 'No se hizo ninguna copia en los últimos ocho días.',
    backup_unverified: () => 'No se verificó ninguna copia en los últimos ocho días.',
    mail_failed: () => 'El correo de prueba fue rechazado o no se pudo enviar.',
    mail_waits: () => 'El correo de prueba espera al servidor de correo.',
    invoice_waits: () => 'El cobro espera tu pago.',
    delivery_waits: () => 'El pago está confirmado; su webhook aún no se entregó.',
    invoice_ended: () => 'El cobro terminó sin el pago. Crea otro.',
  },
}
