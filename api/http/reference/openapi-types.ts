/** The parts of an OpenAPI 3.1 document that this service's has. */

/** JSON Schema 2020-12, as far as the document uses it. */
export type JsonSchema = {
  $ref?: string;
  type?: string | string[];
  title?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  oneOf?: JsonSchema[];
  anyOf?: JsonSchema[];
  allOf?: JsonSchema[];
  enum?: (string | number)[];
  const?: string | number | boolean;
  default?: string | number | boolean;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  contentMediaType?: string;
};

export type MediaType = {
  schema: JsonSchema;
  examples?: Record<string, { summary?: string; value: unknown }>;
};

export type HeaderObject = { description: string; schema: JsonSchema } | { $ref: string };

export type ResponseObject = {
  description: string;
  headers: Record<string, HeaderObject>;
  content: Record<string, MediaType>;
};

export type ParameterObject = {
  name: string;
  in: 'path' | 'query' | 'header';
  description: string;
  required: boolean;
  schema: JsonSchema;
  example: string | number;
};

export type OperationObject = {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  parameters: ParameterObject[];
  requestBody?: { required: boolean; content: Record<string, MediaType> };
  responses: Record<string, ResponseObject>;
  /** Read by Redoc, Scalar and others; not part of OpenAPI itself. */
  'x-codeSamples': { lang: 'Shell'; label: string; source: string }[];
};

/** A request that the service makes and the reader answers. */
export type WebhookObject = {
  post: Omit<OperationObject, 'responses' | 'x-codeSamples'> & {
    responses: Record<string, { description: string }>;
  };
};

export type OpenApiDocument = {
  openapi: '3.1.0';
  info: {
    title: string;
    version: string;
    summary: string;
    description: string;
    license: { name: string; identifier: string };
  };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OperationObject>>;
  webhooks: { jobEnded: WebhookObject };
  components: {
    schemas: Record<string, JsonSchema>;
    headers: Record<string, { description: string; schema: JsonSchema }>;
    securitySchemes: Record<string, { type: 'apiKey'; in: 'header'; name: string; description: string }>;
  };
};
