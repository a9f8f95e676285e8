package fauxka;

import fauxka.FaultRule.Point;

/** The programs of the README files: they compile, and are not run. */
final class ReadmePrograms {
    private ReadmePrograms() {
    }

    static void loseAnAcknowledgement() throws Exception {
        try (FauxkaContainer fauxka = new FauxkaContainer()) {
            fauxka.start();
            fauxka.broker().faults().add(FaultRule.lostAck().topic("orders"));
            sendOrder(fauxka.getBootstrapServers());
            fauxka.broker().verdict("orders").assertExactlyOnce();
        }
    }

    static void addRules() {
        RemoteBroker broker = new RemoteBroker("http://127.0.0.1:9099");
        broker.faults().add(FaultRule.lostAck().topic("orders").times(2));
        broker.faults().add(FaultRule.of(Point.ANSWERING, "truncate").with("bytes", 10).api("Fetch"));
    }

    private static void sendOrder(String bootstrapServers) throws Exception {
        KafkaClients.sendOrder(bootstrapServers);
    }
}
