CREATE TABLE "charge_stops" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"scope" text NOT NULL,
	"object_id" uuid NOT NULL,
	"reason" text NOT NULL,
	"started_by" text,
	"started_at" timestamp (3) with time zone NOT NULL,
	"lifted_by" text,
	"lifted_at" timestamp (3) with time zone,
	"restart_per_second" integer,
	"drained_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "disputes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"payment_intent_id" uuid NOT NULL,
	"charge_id" uuid NOT NULL,
	"customer_id" uuid,
	"their_dispute_id" text NOT NULL,
	"status" text NOT NULL,
	"reason" text,
	"amount_atom" bigint,
	"metadata" jsonb,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "processor_callbacks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"processor_id" uuid NOT NULL,
	"event_id" text NOT NULL,
	"event_type" text NOT NULL,
	"body_sealed" text NOT NULL,
	"payment" jsonb,
	"payment_intent_id" uuid,
	"charge_id" uuid,
	"received_at" timestamp (3) with time zone NOT NULL,
	"applied_at" timestamp (3) with time zone,
	"result" text
);
--> statement-breakpoint
CREATE TABLE "reconciliations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"processor_id" uuid NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"until" timestamp (3) with time zone NOT NULL,
	"status" text NOT NULL,
	"compared" integer DEFAULT 0 NOT NULL,
	"differences" integer DEFAULT 0 NOT NULL,
	"cursor" text,
	"details" jsonb,
	"started_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "charges" ADD COLUMN "retry_advice" text;--> statement-breakpoint
ALTER TABLE "charges" ADD COLUMN "network_advice_code" text;--> statement-breakpoint
ALTER TABLE "charges" ADD COLUMN "fingerprint" text;--> statement-breakpoint
ALTER TABLE "payment_method_mappings" ADD COLUMN "fingerprint" text;--> statement-breakpoint
ALTER TABLE "payment_processors" ADD COLUMN "degraded_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "disputes" ADD CONSTRAINT "disputes_charge_id_charges_id_fk" FOREIGN KEY ("charge_id") REFERENCES "public"."charges"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "charge_stops_open" ON "charge_stops" USING btree ("scope","object_id") WHERE lifted_at is null;--> statement-breakpoint
CREATE INDEX "charge_stops_account" ON "charge_stops" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "disputes_account" ON "disputes" USING btree ("account_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "disputes_theirs" ON "disputes" USING btree ("charge_id","their_dispute_id");--> statement-breakpoint
CREATE UNIQUE INDEX "processor_callbacks_event" ON "processor_callbacks" USING btree ("processor_id","event_id");--> statement-breakpoint
CREATE INDEX "processor_callbacks_open" ON "processor_callbacks" USING btree ("payment_intent_id") WHERE applied_at is null and payment_intent_id is not null;--> statement-breakpoint
CREATE INDEX "processor_callbacks_received" ON "processor_callbacks" USING btree ("received_at");--> statement-breakpoint
CREATE INDEX "reconciliations_processor" ON "reconciliations" USING btree ("processor_id","started_at");--> statement-breakpoint
CREATE INDEX "reconciliations_account" ON "reconciliations" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "charges_fingerprint" ON "charges" USING btree ("processor_id","fingerprint","created_at") WHERE fingerprint is not null;--> statement-breakpoint
CREATE INDEX "charges_processor_payment" ON "charges" USING btree ("processor_id","processor_payment_id") WHERE processor_payment_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "refunds_processor" ON "refunds" USING btree ("charge_id","processor_refund_id") WHERE processor_refund_id is not null;